import type { Tool } from "../../core/tools/tool.ts";
import { dataVisualization } from "./data-visualization.ts";
import type { Databases } from "./database/databases.ts";
import { describeData } from "./describe-data.ts";
import type { DatabaseServers } from "./servers/database-servers.ts";
import { sqlQuery } from "./sql-query.ts";
import { statistics } from "./statistics.ts";
import { visualizationPreparation } from "./visualization-preparation.ts";
import { writeReport } from "./write-report.ts";

/** The data tools: queries, charts, reports. `python` is `python_execute`, when there is one. */
export function dataTools({
  databases,
  servers,
  python,
}: {
  readonly databases: Databases;
  readonly servers?: DatabaseServers;
  readonly python: Tool | undefined;
}): readonly Tool[] {
  return [
    describeData({ databases }),
    sqlQuery({ databases, ...(servers && { servers }) }),
    statistics({ databases }),
    ...(python === undefined ? [] : [visualizationPreparation({ python })]),
    dataVisualization({ databases }),
    writeReport(),
  ];
}
