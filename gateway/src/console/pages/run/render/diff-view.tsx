import { safeText } from "../../../app/format.ts";
import type { FileDiff } from "./diff-lines.ts";

/** Lines shown of one file. */
const mostLines = 2_000;
const marks = { add: "+", del: "−", same: "", gap: "⋯" } as const;

/** Changes of files, with + and − so that colour only confirms them. */
export function DiffView({ files }: { files: readonly FileDiff[] }) {
  return (
    <>
      {files.map(({ name, lines }, index) => {
        const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
        return (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
          <section key={index} class="diff" aria-label={safeText(name)} tabIndex={0}>
            <header>
              <span class="cut mono">{safeText(name)}</span>
              <span class="grow" />
              <span class="s-ok">+{count("add")}</span>
              <span class="s-fail">−{count("del")}</span>
            </header>
            {lines.slice(0, mostLines).map(({ kind, number, text }, at) => (
              <div key={at} class={kind === "same" ? "" : kind}>
                <span>{number}</span>
                <span>{marks[kind]}</span>
                <span>{safeText(text)}</span>
              </div>
            ))}
          </section>
        );
      })}
    </>
  );
}
