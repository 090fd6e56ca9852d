-- The sum of 1, 2, 3, ..., `steps`, with each number capped at `height`.
CREATE MACRO IF NOT EXISTS ramp_sum(steps, height) AS
    CASE
        WHEN steps <= 0 THEN 0::HUGEINT
        WHEN steps <= height THEN steps::HUGEINT * (steps + 1) // 2
        ELSE height::HUGEINT * (height + 1) // 2 + (steps - height)::HUGEINT * height
    END;

-- Number of elements of a rows x columns matrix with column <= row + shift.
CREATE MACRO IF NOT EXISTS mask_below(rows, columns, shift) AS
    ramp_sum(rows + greatest(least(shift, columns), -rows), columns)
    - ramp_sum(greatest(least(shift, columns), -rows), columns);

-- Number of elements of a rows x columns matrix with row + first_shift <= column <= row + last_shift.
CREATE MACRO IF NOT EXISTS mask_band(rows, columns, first_shift, last_shift) AS
    greatest(mask_below(rows, columns, last_shift) - mask_below(rows, columns, first_shift - 1), 0);

-- Number of elements of a rows x columns attention mask that sparse_mode keeps, with the mode numbers of CANN: 0 a band from
-- the upper left, 1 all, 2 below the diagonal from the upper left, 3 from the lower right, 4 a band from the lower right, 5 and
-- 6 like 3 with all of the first `prefix` columns.
CREATE MACRO IF NOT EXISTS mask_area(sparse_mode, rows, columns, before, after, prefix) AS
    CASE sparse_mode
        WHEN 0 THEN mask_band(rows, columns, -before, after)
        WHEN 1 THEN rows::HUGEINT * columns
        WHEN 2 THEN mask_below(rows, columns, 0)
        WHEN 3 THEN mask_below(rows, columns, columns - rows)
        WHEN 4 THEN mask_band(rows, columns, columns - rows - before, columns - rows + after)
        WHEN 5 THEN rows::HUGEINT * prefix + mask_below(rows, columns - prefix, columns - rows - prefix)
        WHEN 6 THEN rows::HUGEINT * prefix + mask_below(rows, columns - prefix, columns - rows - prefix)
    END;
