-- One row is something to change, with the time that it can win; the largest win comes first, then what no time can be given
-- for, then what wins nothing. Equal findings on several ranks are one row, with the figures of the rank on which it wins most.
-- Wins overlap: never add them up; a finding that counts time that one above it counts too names it.
--
-- finding_id       VARCHAR  identifies the finding: the same in every run that has the same rule, title, module, op and type
-- rule             VARCHAR  the rule: a table of advice
-- title            VARCHAR  what was found, without figures
-- module           VARCHAR  path of the module; NULL when it is about no module
-- op               VARCHAR  framework op; NULL when it is about no op
-- kernel_type      VARCHAR  type of kernels; NULL when it is about no type
-- rank_id          INTEGER  the rank; NULL where there is one rank, or all ranks have it alike
-- evidence         VARCHAR  a sentence with figures of that rank, over all its steps
-- count            BIGINT   kernels, calls or gaps that were found on it; NULL where nothing is counted
-- win_ns_per_step  BIGINT   what can be won in a step, ns; without steps, in the whole recording; 0 where a change makes no
--                           step shorter; NULL when it is not known
-- win_share        DOUBLE   share of the step that can be won; NULL when it is not known
-- kind             VARCHAR  how far to trust the win: exact cause (this time goes when the cause goes), upper bound (no more
--                           than this), hint (no time can be given)
-- what_to_do       VARCHAR  what an engineer can do
-- doc              VARCHAR  where the rule is explained
-- sql              VARCHAR  query that shows the evidence
-- rank_count       BIGINT   ranks that have it; NULL for a finding about all ranks together
-- time_ns_per_step BIGINT   time at issue in a step, ns; NULL when it is not known
-- shared_with      VARCHAR  finding_id of the finding above it that counts most of the same time; NULL when none does
-- shared_ns_per_step  BIGINT  how much of win_ns_per_step that one may count too at most, ns; NULL when none does
-- phase            VARCHAR  phase of the passes of a server in which most of its time lies, as in pass.instance; NULL where the
--                           profile has no passes or their phases are not known, and for a finding without a place in time
-- phase_share      DOUBLE   part of its time that lies there, as in advice.finding_work; NULL where phase is
WITH phase_time AS (
    SELECT
        finding_id,
        phase,
        sum(total_ns) AS phase_ns,
        sum(sum(total_ns)) OVER (PARTITION BY finding_id) AS all_ns
    FROM advice.finding_work
    GROUP BY finding_id, phase
),
in_phase AS (
    SELECT finding_id, arg_max(phase, (phase_ns, phase)) AS phase, max(phase_ns) / nullif(min(all_ns), 0) AS phase_share
    FROM phase_time
    WHERE phase IS NOT NULL
    GROUP BY finding_id
)
SELECT found.* EXCLUDE (place), shared.shared_with, shared.shared_ns_per_step, in_phase.phase, in_phase.phase_share
FROM advice.finding_of_run AS found
LEFT JOIN advice.shared ON shared.finding_id = found.finding_id AND shared.is_most
LEFT JOIN in_phase ON in_phase.finding_id = found.finding_id
ORDER BY found.place
