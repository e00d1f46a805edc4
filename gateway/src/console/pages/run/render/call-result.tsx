import { isByLink } from "../../../api/client.ts";
import { Markdown } from "../../../parts/markdown.tsx";
import { words } from "../../../words/words.ts";
import { type CallItem, failureOf, isStopped } from "../model/items.ts";
import { argumentsOf, readArguments, resultOf } from "../model/rows.ts";
import type { RunPageStore } from "../run-store.ts";
import { tookText } from "../took-text.ts";
import { BrowserStep } from "./browser-step.tsx";
import { ChartView, chartsIn, workspaceFile } from "./chart-view.tsx";
import { CodeBlock, prettyJson } from "./code-block.tsx";
import { diffOf, type FileDiff, readDiff } from "./diff-lines.ts";
import { DiffView } from "./diff-view.tsx";
import { ErrorBlock } from "./error-block.tsx";
import { Pictures, picturesIn } from "./pictures.tsx";
import { readTable } from "./read-table.ts";
import { TableView } from "./table-view.tsx";
import { Terminal } from "./terminal.tsx";

const runsCommands = /^(bash|python_execute|run_tests|shell|run_command)/;
const writesProse = /^(web_fetch|web_search|terminate|delegate|ask_agent|data_visualization|describe_image)/;

/** The result of a call, drawn by what kind of tool it was, else by what the result is. */
export function CallResult({ call, store }: { call: CallItem; store: RunPageStore }) {
  const text = words().run;
  if (call.ended === undefined) return <Running call={call} store={store} />;
  const result = resultOf(call);
  const failure = failureOf(call);
  return (
    <>
      {failure !== undefined && <ErrorBlock text={failure} />}
      <Given call={call} />
      {call.name.startsWith("browser_") ? (
        <BrowserStep call={call} store={store} />
      ) : (
        <>
          <Charts call={call} />
          {failure === undefined &&
            (result === "" ? <p class="t3">{isStopped(call) ? text.cutOff : text.noResult}</p> : <Said call={call} />)}
        </>
      )}
    </>
  );
}

/** What a call that still runs has written so far. */
function Running({ call, store }: { call: CallItem; store: RunPageStore }) {
  const output = store.live.of(call.runId).find(({ type }) => type === "tool-output");
  return (
    <>
      <p class="t3" role="status">
        {tookText(call, store)}
      </p>
      <Given call={call} />
      {output && <Terminal command={commandOf(call)} output={output.text} />}
    </>
  );
}

/** What the call was given, where that is what it is about: a query, a program, a change. */
function Given({ call }: { call: CallItem }) {
  const text = words().run;
  const { sql, code } = readArguments(argumentsOf(call));
  const changes = changesOf(call);
  if (typeof sql !== "string" && typeof code !== "string" && changes.length === 0) return null;
  return (
    <div class="given">
      {typeof sql === "string" && (
        <>
          <h3>{text.query}</h3>
          <CodeBlock text={sql} />
        </>
      )}
      {typeof code === "string" && (
        <>
          <h3>{text.code}</h3>
          <CodeBlock text={code} />
        </>
      )}
      {changes.length > 0 && <DiffView files={changes} />}
    </div>
  );
}

/** The charts that the call drew; where they are not there to be drawn again, its pictures. */
function Charts({ call }: { call: CallItem }) {
  const files = call.ended === undefined ? [] : picturesIn(call.ended.event);
  const charts = call.name === "data_visualization" && !isByLink() ? chartsIn(resultOf(call)) : [];
  const pictures = <Pictures files={files} />;
  if (charts.length === 0) return pictures;
  return (
    <>
      {charts.map((path, at) => (
        <ChartView key={path} source={workspaceFile(call.runId, path)}>
          {at === 0 && pictures}
        </ChartView>
      ))}
    </>
  );
}

function Said({ call }: { call: CallItem }) {
  const result = resultOf(call);
  const files = readDiff(result);
  if (files.length > 0) return <DiffView files={files} />;
  if (runsCommands.test(call.name)) return <Terminal command={commandOf(call)} output={result} />;
  const table = readTable(result);
  if (table !== undefined && table.rows.length > 0 && !writesProse.test(call.name))
    return (
      <>
        {table.before !== "" && <p class="t2">{table.before}</p>}
        <TableView head={table.head} rows={table.rows} />
        {table.after !== "" && <p class="t2">{table.after}</p>}
      </>
    );
  if (writesProse.test(call.name)) return <Markdown text={result} />;
  return <CodeBlock text={/^\s*[[{]/.test(result) ? prettyJson(result) : result} />;
}

function commandOf(call: CallItem): string {
  const { command } = readArguments(argumentsOf(call));
  return typeof command === "string" ? command : "";
}

/** The changes to files that a call's arguments describe. */
function changesOf(call: CallItem): readonly FileDiff[] {
  const given = readArguments(argumentsOf(call));
  const text = (name: string) => (typeof given[name] === "string" ? given[name] : undefined);
  const path = text("path") ?? "";
  if (given.command === "str_replace") return [diffOf(path, text("old_str") ?? "", text("new_str") ?? "")];
  if (given.command === "create") return [diffOf(path, "", text("file_text") ?? "")];
  if (given.command === "insert") return [diffOf(path, "", text("new_str") ?? "")];
  return readDiff(text("patch") ?? text("input") ?? "");
}
