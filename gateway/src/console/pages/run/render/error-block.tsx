import { Glyph } from "../../../parts/icons/glyph.tsx";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { CodeBlock } from "./code-block.tsx";

/**
 * What failed, in a sentence, and under `whole` all that is known of it: of a call what the model
 * was told.
 */
export function ErrorBlock({ text, whole = words().run.modelWasTold }: { text: string; whole?: string }) {
  const first = /^.*?[.!?](?=\s|$)|^.*/s.exec(text.trim())?.[0]?.split("\n")[0] ?? text;
  return (
    <>
      <div class="banner fail" role="note">
        <Glyph shape="failed" label={words().run.whatFailed} />
        <span class="grow">{safeText(first)}</span>
      </div>
      {text.trim() !== first && (
        <>
          <h3>{whole}</h3>
          <CodeBlock text={text} />
        </>
      )}
    </>
  );
}
