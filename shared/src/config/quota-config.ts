import { defined } from "../core/json.ts";
import type { QuotaConfig } from "../core/runs/quota.ts";
import type { Sections } from "./sections/sections.ts";

/** What `[limits.principal]` and `[limits.principals.NAME]` say. */
export function quotaConfig({ principal, principals }: Sections["limits"]): QuotaConfig {
  return {
    everybody: quotaOf(principal),
    named: Object.fromEntries(Object.entries(principals).map(([name, table]) => [name, quotaOf(table)])),
  };
}

function quotaOf(table: Sections["limits"]["principal"]) {
  return defined({
    requestsPerMinute: table.requests_per_minute,
    runsAtOnce: table.runs_at_once,
    tokensPerDay: table.tokens_per_day,
    usdPerDay: table.usd_per_day,
  });
}
