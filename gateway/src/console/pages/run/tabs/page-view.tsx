import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../../parts/button.tsx";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { CodeBlock } from "../render/code-block.tsx";

/**
 * A page as it looks, in a frame with an origin of its own and without scripts, or its text. The
 * frame asks for the page; the policy it is served with decides what the page may do.
 */
export function PageView({ page, name }: { page: string; name: string }) {
  const text = words().run;
  const [asText, setAsText] = useState(false);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const give = ({ source }: MessageEvent) => {
      // Its origin is opaque, and has no name to send to.
      if (source !== null && source === frame.current?.contentWindow)
        frame.current.contentWindow?.postMessage(page, "*");
    };
    addEventListener("message", give);
    return () => removeEventListener("message", give);
  }, [page]);
  return (
    <>
      <div class="row">
        <p class="t3 small grow">{asText ? "" : text.pageNote}</p>
        <Button look="ghost" onClick={() => setAsText(!asText)}>
          {asText ? text.showPage : text.showText}
        </Button>
      </div>
      {asText ? (
        <CodeBlock text={page} />
      ) : (
        <iframe
          key={page}
          ref={frame}
          class="page-shown"
          src="./frame"
          sandbox="allow-scripts"
          referrerpolicy="no-referrer"
          title={text.pageOf(safeText(name))}
        />
      )}
    </>
  );
}
