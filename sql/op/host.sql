-- One row is the host that the ops of the rank ran on: where a database holds several devices, all of them have the same ops.
--
-- host_profile  VARCHAR  the profile of the rank; where several devices share a database, the part that their profiles have in
--                        common
SELECT
    CASE
        WHEN getvariable('first_device_id') IS NULL THEN getvariable('profile')
        ELSE left(getvariable('profile'), length(getvariable('profile')) - length('/device_' || getvariable('device_id')))
    END AS host_profile
