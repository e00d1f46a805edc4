import { safeText } from "../../../app/format.ts";
import { words } from "../../../app/words/words.ts";
import { Glyph } from "../../../parts/icons/glyph.tsx";
import { CodeBlock } from "./code-block.tsx";

/** What failed, in a sentence, and all that the model was told about it. */
export function ErrorBlock({ text }: { text: string }) {
  const first = /^.*?[.!?](?=\s|$)|^.*/s.exec(text.trim())?.[0]?.split("\n")[0] ?? text;
  return (
    <>
      <div class="banner fail" role="note">
        <Glyph shape="failed" label={words().run.whatFailed} />
        <span class="grow">{safeText(first)}</span>
      </div>
      {text.trim() !== first && (
        <>
          <h3>{words().run.modelWasTold}</h3>
          <CodeBlock text={text} />
        </>
      )}
    </>
  );
}
