import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** One choice of a menu. */
export type MenuItem = {
  readonly label: string;
  /** A second line that says what it means. */
  readonly note?: string;
  readonly checked?: boolean;
  readonly look?: "fail";
  choose(): void;
};

/**
 * A button that opens a list of choices. Arrow keys move, Enter chooses, Escape closes and returns
 * the focus.
 */
export function Menu({
  label,
  button,
  items,
  look = "pick",
  side = "start",
}: {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly items: readonly MenuItem[];
  readonly look?: string;
  /** The side of the button that the menu keeps to. */
  readonly side?: "start" | "end";
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const beside = (event: PointerEvent) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    addEventListener("pointerdown", beside);
    const checked = root.current?.querySelector<HTMLElement>('[role^="menuitem"][aria-checked="true"]');
    (checked ?? root.current?.querySelector<HTMLElement>('[role^="menuitem"]'))?.focus();
    return () => removeEventListener("pointerdown", beside);
  }, [open]);
  const leave = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const entries = [...(root.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (to !== undefined) entries[(to + entries.length) % entries.length]?.focus();
    else if (event.key === "Escape") leave();
    else if (event.key === "Tab") setOpen(false);
    if (to !== undefined || event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu inside.
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        class={look}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span class="sr">{label}</span>
        {button}
      </button>
      {open && <MenuList label={label} items={items} side={side} leave={leave} />}
    </div>
  );
}

function MenuList({
  label,
  items,
  side,
  leave,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly side: string;
  readonly leave: () => void;
}) {
  return (
    <div class={`menu-list ${side}`} role="menu" aria-label={label}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          tabIndex={-1}
          class={item.look === "fail" ? "menu-item s-fail" : "menu-item"}
          {...(item.checked === undefined
            ? { role: "menuitem" }
            : { role: "menuitemradio", "aria-checked": item.checked })}
          onClick={() => {
            leave();
            item.choose();
          }}
        >
          <span>{item.label}</span>
          {item.note && <span class="t3 small">{item.note}</span>}
        </button>
      ))}
    </div>
  );
}
