-- The work of a range or function for a micro-batch, by its name; NULL for other names.
CREATE MACRO IF NOT EXISTS pass_kind(name) AS
    CASE
        WHEN regexp_matches(name, '(?i)weight') AND regexp_matches(name, '(?i)grad|backward') THEN 'weights'
        WHEN regexp_matches(name, '(?i)forward.*backward|backward.*forward') THEN 'both'
        WHEN regexp_matches(name, '(?i)backward') THEN 'backward'
        WHEN regexp_matches(name, '(?i)forward') THEN 'forward'
    END;
