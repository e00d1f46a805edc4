import type { LiveFrame } from "manyhands/internal/core/live-page";
import type { LivePlace, PageInput } from "../../../api/live.ts";
import { words } from "../../../words/words.ts";

const named = new Set([
  ...["Enter", "Tab", "Backspace", "Delete", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"],
  ...["Home", "End", "PageUp", "PageDown"],
]);

type Props = {
  readonly frame: LiveFrame | undefined;
  readonly screen: LivePlace["screen"];
  readonly held: boolean;
  readonly send: (input: PageInput) => void;
  /** Moves the focus away from the page. */
  readonly leave: () => void;
};

/** The picture of the page; while one has the page, what is done to the picture is done to it. */
export function LiveScreen({ frame, screen, held, send, leave }: Props) {
  const text = words().livePage;
  if (frame === undefined) return <div class="screen empty" />;
  const picture = <img src={`data:image/jpeg;base64,${frame.frame}`} alt={text.pictureOf[screen]} draggable={false} />;
  if (!held) return <div class="screen">{picture}</div>;
  return (
    <div
      class="screen held"
      role="application"
      aria-label={text.screenOf[screen]}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what is typed here goes to the page
      tabIndex={0}
      data-live-screen
      onKeyDown={(event) => {
        if (event.key === "Escape") leave();
        else {
          const input = inputOf(event);
          if (input === undefined) return;
          send(input);
        }
        event.preventDefault();
        event.stopPropagation();
      }}
      onPaste={(event) => {
        const pasted = event.clipboardData?.getData("text/plain").slice(0, 5_000) ?? "";
        if (pasted !== "") send({ type: "text", text: pasted });
        event.preventDefault();
      }}
      onMouseDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
        send({ ...pointer(event, frame), act: "down" });
      }}
      onMouseUp={(event) => send({ ...pointer(event, frame), act: "up" })}
      onMouseMove={(event) => {
        if (event.buttons !== 0) send({ ...pointer(event, frame), act: "move" });
      }}
      onContextMenu={(event) => event.preventDefault()}
      onWheel={(event) => {
        event.preventDefault();
        const { x, y } = pointer(event, frame);
        send({ type: "wheel", x, y, dx: event.deltaX, dy: event.deltaY });
      }}
    >
      {picture}
    </div>
  );
}

/** Where in the page a place of the picture is. */
function pointer(event: MouseEvent & { readonly currentTarget: HTMLElement }, { width, height }: LiveFrame) {
  const shown = event.currentTarget.querySelector("img")?.getBoundingClientRect() ?? new DOMRect();
  const share = (at: number, from: number, size: number) => Math.max(0, Math.min(1, (at - from) / (size || 1)));
  return {
    type: "pointer" as const,
    x: Math.round(share(event.clientX, shown.left, shown.width) * width),
    y: Math.round(share(event.clientY, shown.top, shown.height) * height),
    button: event.button === 2 ? ("right" as const) : ("left" as const),
    clicks: Math.max(1, Math.min(3, event.detail)),
  };
}

/** What a key does to the page; undefined for one that stays the console's. */
function inputOf(event: KeyboardEvent): PageInput | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const command = ctrlKey || metaKey;
  if (key.length === 1 && !command) return { type: "text", text: key };
  // The paste event brings the text itself.
  if (command && key.toLowerCase() === "v") return undefined;
  if (!named.has(key) && !(command && /^[a-z0-9]$/i.test(key))) return undefined;
  const held = [command && "Control", altKey && "Alt", shiftKey && "Shift"].filter((one) => one !== false);
  return { type: "key", key: [...held, key].join("+") };
}
