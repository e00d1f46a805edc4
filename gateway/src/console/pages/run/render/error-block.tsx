import { Glyph } from "../../../parts/icons/glyph.tsx";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { CodeBlock } from "./code-block.tsx";

/** Characters of a line that is told whole. */
const longestTold = 240;

const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)|^.*/s.exec(text)?.[0]?.split("\n")[0] ?? text;

/**
 * What failed, in a sentence, and under `whole` all that is known of it: of a call what the model
 * was told.
 */
export function ErrorBlock({ text, whole = words().run.modelWasTold }: { text: string; whole?: string }) {
  const all = text.trim();
  const first = all.length <= longestTold && !all.includes("\n") ? all : firstSentence(all);
  return (
    <>
      <div class="banner fail" role="note">
        <Glyph shape="failed" label={words().run.whatFailed} />
        <span class="grow">{safeText(first)}</span>
      </div>
      {all !== first && (
        <>
          <h3>{whole}</h3>
          <CodeBlock text={text} />
        </>
      )}
    </>
  );
}
