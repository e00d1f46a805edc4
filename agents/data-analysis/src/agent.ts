import { defineAgent } from "@manyhands/shared/agent/define-agent";
import type { AgentDefinition, Limits } from "@manyhands/shared/core/agent";
import type { Tool } from "@manyhands/shared/core/tool";
import { dataTools } from "@manyhands/shared/tools/data/data-tools";
import type { Databases } from "@manyhands/shared/tools/data/databases";
import { seeImage } from "@manyhands/shared/tools/files/see-image";
import { createStrReplaceEditor } from "@manyhands/shared/tools/files/str-replace-editor";
import { askHuman } from "@manyhands/shared/tools/human/ask-human";
import { terminate } from "@manyhands/shared/tools/human/terminate";
import { createPlanning } from "@manyhands/shared/tools/planning/planning";
import { instructions } from "./prompt.ts";

/** What the agent needs: `shell` are the tools that run code, none where no sandbox could be had. */
export type DataAnalysisDeps = {
  readonly shell: readonly Tool[];
  /** The libraries that Python has here. */
  readonly libraries?: readonly string[];
  readonly databases: Databases;
  readonly limits?: Partial<Limits>;
};

/** DataAnalysis, the agent that answers questions with data, charts and a report. */
export function dataAnalysis({ shell, libraries = [], databases, limits }: DataAnalysisDeps): AgentDefinition {
  const python = shell.find(({ name }) => name === "python_execute");
  return defineAgent({
    name: "data-analysis",
    title: "DataAnalysis",
    description:
      "Analyses data files (CSV, Parquet, JSON, Excel, SQLite): describes and queries them with SQL, computes findings, draws charts and writes a report as HTML and Markdown.",
    version: "0.1.0",
    instructions: instructions({ libraries: python === undefined ? undefined : libraries }),
    tools: [
      createPlanning(),
      ...shell,
      ...dataTools({ databases, python }),
      createStrReplaceEditor(),
      seeImage,
      askHuman(),
      terminate,
    ],
    ...(limits && { limits }),
    skills: [
      {
        id: "query-data",
        name: "Describe and query data",
        description:
          "Describes data files, Excel workbooks and SQLite databases, says what is odd in them, and answers questions about them with SQL, also for files of 100 MB and more.",
        tags: ["data", "sql", "csv", "parquet", "json", "excel", "sqlite"],
        examples: ["Which region grew fastest in sales.csv?", "What is wrong with this export?"],
      },
      {
        id: "visualize-data",
        name: "Charts and findings",
        description:
          "Draws charts as PNG, SVG or self-contained HTML, in English or Chinese, with the clearest findings computed from the data and marked in them: trends, outliers, correlations, changes of level.",
        tags: ["charts", "visualization", "insight"],
        examples: ["Chart revenue by month and point out what is unusual."],
      },
      {
        id: "report-data",
        name: "Report",
        description: "Writes an analysis up as report.html, which needs nothing else, and report.md.",
        tags: ["report", "analysis"],
        examples: ["Analyse orders.csv and write a one-page report with charts."],
      },
    ],
  });
}
