/**
 * Writes the dashboard and the alert rules from the lists beside it, once for who imports them and
 * once into the chart, which can read no file outside its folder: `bun deploy/monitoring/write.ts`.
 */
import { resolve } from "node:path";
import { ruleGroups } from "./alerts.ts";
import { dashboard } from "./dashboard.ts";

const deploy = resolve(import.meta.dir, "..");
const json = `${JSON.stringify(dashboard(), null, 2)}\n`;
const yaml = `${Bun.YAML.stringify(ruleGroups(), null, 2)}\n`;

/** The content of each written file, by its path in `deploy`. */
export const written: Readonly<Record<string, string>> = {
  "grafana/manyhands.json": json,
  "chart/manyhands/files/dashboard.json": json,
  "prometheus/manyhands.yaml": yaml,
  "chart/manyhands/files/rules.yaml": yaml,
};

if (import.meta.main)
  for (const [path, content] of Object.entries(written)) await Bun.write(resolve(deploy, path), content);
