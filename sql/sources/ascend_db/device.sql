-- The writer takes the device of the host for each of them, so a device has one name.
SELECT id AS device_id, min(known(name)) AS name
FROM raw.npu_info
GROUP BY id
HAVING count(DISTINCT known(name)) = 1
