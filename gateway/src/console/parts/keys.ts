import { useEffect } from "preact/hooks";

/**
 * A key as the person's keyboard has it: `mod+K` is ⌘K on a Mac and Ctrl K everywhere else.
 */
export function keyText(key: string): string {
  return key.replace("mod+", /Mac OS|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl ");
}

/** What keys do, by `KeyboardEvent.key`; `mod+k` is ⌘K or Ctrl K. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const singleKey = "manyhands-single-keys";

/** Whether single keys act; a person may turn them off. */
export const singleKeys = {
  get on(): boolean {
    return localStorage.getItem(singleKey) !== "off";
  },
  set on(value: boolean) {
    localStorage.setItem(singleKey, value ? "on" : "off");
  },
};

/** Lets keys act while the component is shown. Single keys do nothing in a text field. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const isMod = event.metaKey || event.ctrlKey;
      if (!isMod && (isTyping(event.target) || !singleKeys.on)) return;
      const act = keys[isMod ? `mod+${event.key.toLowerCase()}` : event.key];
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest("dialog, [role=menu]") !== null ||
      ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
