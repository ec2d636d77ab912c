-- SPDX-License-Identifier: MIT
-- For wrk: GET, or POST of a file's bytes; the figures as one line of JSON.
--
--	wrk -s load.lua URL [-- FILE ["Name: value"...]]
function init(args)
	for i = 2, #args do
		local name, value = args[i]:match("^([^:]+): (.*)$")
		wrk.headers[name] = value
	end
	if args[1] then
		local file = assert(io.open(args[1]))
		wrk.method = "POST"
		wrk.body = file:read("*a")
		wrk.headers["Content-Type"] = "application/json"
		file:close()
	end
end

function done(summary, latency, requests)
	local e = summary.errors
	print(string.format('{"requests": %d, "us": %d, "p50": %d, "p99": %d, '
		.. '"errors": %d, "bytes": %d}', summary.requests,
		summary.duration, latency:percentile(50),
		latency:percentile(99),
		e.connect + e.read + e.write + e.status + e.timeout,
		summary.bytes))
end
