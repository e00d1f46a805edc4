import { type AgentSource, defineAgent } from "manyhands";
import {
  archives,
  askHuman,
  data,
  documents,
  editor,
  images,
  planning,
  python,
  shell,
  terminate,
} from "manyhands/tools";
import { instructionsFor } from "./prompt.ts";

/** DataAnalysis, the agent that answers questions with data, charts and a report. */
export const dataAnalysis = (({ plans, pythonLibraries: libraries }) =>
  defineAgent({
    name: "data-analysis",
    title: "DataAnalysis",
    description:
      "Analyses data files (CSV, Parquet, JSON, Excel, SQLite): describes and queries them with SQL, computes findings, draws charts and writes a report as HTML and Markdown.",
    instructions: instructionsFor({ plans, libraries }),
    tools: [planning(), shell(), python(), data(), editor(), images(), documents(), archives(), askHuman(), terminate],
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
        tags: ["report", "analysis", "docx", "xlsx"],
        examples: ["Analyse orders.csv and write a one-page report with charts."],
      },
    ],
  })) satisfies AgentSource;
