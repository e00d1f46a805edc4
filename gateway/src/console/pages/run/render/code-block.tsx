import { useState } from "preact/hooks";
import { CutNote } from "../../../parts/cut-note.tsx";
import { countText, safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";

/** Characters shown of a text at once: more would keep the page from answering. */
const maxCharacters = 200_000;

/** A text as it is, in a fixed-width font. */
export function CodeBlock({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > maxCharacters;
  return (
    <>
      {cut && (
        <CutNote
          said={words().run.firstCharacters(countText(maxCharacters), countText(text.length))}
          showAll={() => setAll(true)}
        />
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <pre class="code mono wraps" tabIndex={0}>
        {safeText(cut ? `${text.slice(0, maxCharacters)}…` : text)}
      </pre>
    </>
  );
}

/** JSON with its lines indented; any other text as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
