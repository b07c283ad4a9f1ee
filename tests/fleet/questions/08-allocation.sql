-- What does the fleet spend on a function, with what it calls, by service and week?
WITH
  has AS (SELECT stack_id FROM stack_functions WHERE function = 'allocate' GROUP BY stack_id)
SELECT s.service, CAST(s.date AS VARCHAR(10)) AS week, count(h.stack_id) AS samples, count(*) AS all_samples
FROM samples s LEFT JOIN has h ON h.stack_id = s.stack_id
GROUP BY s.service, s.date ORDER BY s.service, week
