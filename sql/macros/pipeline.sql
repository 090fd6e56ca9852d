-- What a range or function does for a micro-batch, by its name; NULL when it says nothing of it.
CREATE MACRO IF NOT EXISTS pass_kind(name) AS
    CASE
        WHEN regexp_matches(name, '(?i)weight') AND regexp_matches(name, '(?i)grad|backward') THEN 'weights'
        WHEN regexp_matches(name, '(?i)forward.*backward|backward.*forward') THEN 'both'
        WHEN regexp_matches(name, '(?i)backward') THEN 'backward'
        WHEN regexp_matches(name, '(?i)forward') THEN 'forward'
    END;
