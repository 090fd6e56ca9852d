SELECT device_id, min(name) AS name
FROM raw.device
GROUP BY device_id
HAVING count(DISTINCT name) = 1
