-- Who calls whom most.
SELECT caller, function, sum(period) AS period
FROM callers WHERE caller IS NOT NULL AND function IS NOT NULL
GROUP BY caller, function ORDER BY period DESC, caller, function LIMIT 10
