import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

/** A button that opens a small form beside it. Escape and a press elsewhere close it. */
export function Popover({
  label,
  button,
  look = "pick",
  children,
}: {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly look?: string;
  readonly children: ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const beside = (event: PointerEvent) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    addEventListener("pointerdown", beside);
    root.current?.querySelector<HTMLElement>("input, textarea, select")?.focus();
    return () => removeEventListener("pointerdown", beside);
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    const leaves = event.key === "Escape" || (event.key === "Enter" && event.target instanceof HTMLInputElement);
    if (!open || !leaves) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(false);
    opener.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the form inside.
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        class={look}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <span class="sr">{label}</span>
        {button}
      </button>
      <fieldset class="menu-list panel" id={id} aria-label={label} hidden={!open}>
        {children}
      </fieldset>
    </div>
  );
}
