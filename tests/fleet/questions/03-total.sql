-- What has most below it.
SELECT function, sum(total_samples) AS samples, sum(total_period) AS period
FROM functions WHERE function IS NOT NULL GROUP BY function ORDER BY period DESC, function LIMIT 10
