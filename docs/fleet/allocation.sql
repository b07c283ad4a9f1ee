-- What does the fleet spend on allocation, with all it calls, by service and week?
WITH
  allocating AS (SELECT stack_id FROM stack_functions WHERE function = 'allocate' GROUP BY stack_id)
SELECT s.service, s.date AS week, 100.0 * count(a.stack_id) / count(*) AS percent
FROM samples s
LEFT JOIN allocating a ON a.stack_id = s.stack_id
GROUP BY s.service, s.date
ORDER BY s.service, week
