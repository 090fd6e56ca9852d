-- The variance of a sample of n integers from their sum and the sum of their squares, in integers up to the division. NULL for
-- fewer than two.
CREATE MACRO IF NOT EXISTS sample_variance(total, squares, n) AS
    CASE WHEN n > 1 THEN (n * squares::HUGEINT - total::HUGEINT * total)::DOUBLE / (n * (n - 1)) END;

-- The standard deviation of a sample, likewise.
CREATE MACRO IF NOT EXISTS sample_sd(total, squares, n) AS sqrt(sample_variance(total, squares, n));

-- The standard error of the difference of the means of two samples, squared.
CREATE MACRO IF NOT EXISTS welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n) AS
    sample_variance(base_total, base_squares, base_n) / base_n + sample_variance(new_total, new_squares, new_n) / new_n;

-- The degrees of freedom of that error (Welch, Satterthwaite). NULL where neither sample varies.
CREATE MACRO IF NOT EXISTS welch_freedom(base_total, base_squares, base_n, new_total, new_squares, new_n) AS
    pow(welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n), 2)
    / nullif(
        pow(sample_variance(base_total, base_squares, base_n) / base_n, 2) / (base_n - 1)
        + pow(sample_variance(new_total, new_squares, new_n) / new_n, 2) / (new_n - 1),
        0
    );

-- The probability that two samples of integers with equal means differ at least as much as these (Welch's t-test, two-sided).
-- NULL where one has fewer than two values; where neither varies, 1 for equal means and 0 for others. As student_p() is a
-- function in Python, only tables over runs can call it.
CREATE MACRO IF NOT EXISTS welch_p(base_total, base_squares, base_n, new_total, new_squares, new_n) AS
    CASE
        WHEN base_n < 2 OR new_n < 2 THEN NULL
        WHEN new_total::HUGEINT * base_n = base_total::HUGEINT * new_n THEN 1
        WHEN welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n) = 0 THEN 0
        ELSE student_p(
            (new_total / new_n - base_total / base_n)
            / sqrt(welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n)),
            welch_freedom(base_total, base_squares, base_n, new_total, new_squares, new_n)
        )
    END;

-- Half of the interval that holds the difference of the means with a probability of 95 %. NULL as in welch_p().
CREATE MACRO IF NOT EXISTS welch_margin(base_total, base_squares, base_n, new_total, new_squares, new_n) AS
    CASE
        WHEN base_n < 2 OR new_n < 2 THEN NULL
        WHEN welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n) = 0 THEN 0
        ELSE sqrt(welch_variance(base_total, base_squares, base_n, new_total, new_squares, new_n))
            * student_quantile(welch_freedom(base_total, base_squares, base_n, new_total, new_squares, new_n))
    END;

-- The largest p-value that is no noise, of all p-values of a group, so that of the rows called changed at most 5 % are expected
-- to be noise (Benjamini and Hochberg). NULL where none is.
CREATE MACRO IF NOT EXISTS significance_limit(p_value) AS
    list_max(
        list_filter(
            list_sort(list(p_value) FILTER (p_value IS NOT NULL)),
            lambda p, place: p * count(p_value) <= 0.05::DOUBLE * place
        )
    );

-- The sums that welch_p() needs of both sides, from rows that are each a value of a sample.
CREATE MACRO IF NOT EXISTS samples_of_sides(side, sample) AS
    {
        'base_total': coalesce(sum(sample) FILTER (side = 'base'), 0)::HUGEINT,
        'base_squares': coalesce(sum(sample * sample) FILTER (side = 'base'), 0)::HUGEINT,
        'new_total': coalesce(sum(sample) FILTER (side = 'new'), 0)::HUGEINT,
        'new_squares': coalesce(sum(sample * sample) FILTER (side = 'new'), 0)::HUGEINT
    };

-- Statistics of times from these sums: how far each side varies, and whether the difference may be chance.
CREATE MACRO IF NOT EXISTS variation_of_sides(samples, base_n, new_n) AS
    {
        'base_sd_ns': sample_sd(samples.base_total, samples.base_squares, base_n),
        'new_sd_ns': sample_sd(samples.new_total, samples.new_squares, new_n),
        'p_value': welch_p(
            samples.base_total, samples.base_squares, base_n, samples.new_total, samples.new_squares, new_n
        )
    };

-- The change of something that is counted and takes time, the first that applies; NULL where nothing changed.
CREATE MACRO IF NOT EXISTS change_of(base_count, new_count, base_units, new_units, base_ns, new_ns, is_noise) AS
    CASE
        WHEN base_count = 0 THEN 'added'
        WHEN new_count = 0 THEN 'removed'
        WHEN new_count::HUGEINT * base_units > base_count::HUGEINT * new_units THEN 'more often'
        WHEN new_count::HUGEINT * base_units < base_count::HUGEINT * new_units THEN 'less often'
        WHEN base_ns = new_ns THEN NULL
        WHEN is_noise THEN 'noise'
        WHEN new_ns > base_ns THEN 'slower'
        ELSE 'faster'
    END;
