import { useState } from "preact/hooks";
import { CutNote } from "../../../parts/cut-note.tsx";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { ansiPieces } from "./ansi.ts";

/** Lines shown before the rest is asked for. */
const lastLines = 200;

/** A command and what it wrote, as a terminal shows it. */
export function Terminal({ command, output }: { command: string; output: string }) {
  const text = words().run;
  const [all, setAll] = useState(false);
  const lines = output.split("\n");
  const cut = !all && lines.length > lastLines;
  const shown = cut ? lines.slice(-lastLines).join("\n") : output;
  return (
    <>
      {cut && <CutNote said={text.lastLines(lastLines)} showAll={() => setAll(true)} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <pre class="term mono" tabIndex={0}>
        {command !== "" && (
          <span class="d">
            {`$ ${safeText(command)}`}
            {"\n"}
          </span>
        )}
        {ansiPieces(shown).map((piece, at) =>
          piece.class === "" ? (
            safeText(piece.text)
          ) : (
            <span key={at} class={piece.class}>
              {safeText(piece.text)}
            </span>
          ),
        )}
      </pre>
    </>
  );
}
