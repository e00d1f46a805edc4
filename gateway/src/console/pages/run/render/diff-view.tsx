import { useState } from "preact/hooks";
import { CutNote } from "../../../parts/cut-note.tsx";
import { countText, safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import type { FileDiff } from "./diff-lines.ts";

/** Lines shown of one file. */
const maxLines = 2_000;
const marks = { add: "+", del: "−", same: "", gap: "⋯" } as const;

/** Changes of files, with + and − so that colour only confirms them. */
export function DiffView({ files }: { files: readonly FileDiff[] }) {
  return (
    <>
      {files.map((file, index) => (
        <FileChanges key={index} file={file} />
      ))}
    </>
  );
}

function FileChanges({ file: { name, lines } }: { file: FileDiff }) {
  const [all, setAll] = useState(false);
  const cut = !all && lines.length > maxLines;
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  return (
    <>
      {cut && (
        <CutNote
          said={words().run.firstLines(countText(maxLines), countText(lines.length))}
          showAll={() => setAll(true)}
        />
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="diff" aria-label={safeText(name)} tabIndex={0}>
        <header>
          <span class="cut mono">{safeText(name)}</span>
          <span class="grow" />
          <span class="s-ok">+{count("add")}</span>
          <span class="s-fail">−{count("del")}</span>
        </header>
        {(cut ? lines.slice(0, maxLines) : lines).map(({ kind, number, text }, at) => (
          <div key={at} class={kind === "same" ? "" : kind}>
            <span>{number}</span>
            <span>{marks[kind]}</span>
            <span>{safeText(text)}</span>
          </div>
        ))}
      </section>
    </>
  );
}
