import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { waiting } from "../state/store.ts";
import { safeText, shortLine } from "../words/format.ts";
import { unseenFailures } from "./run-news.ts";

const name = "Manyhands";

/** What the shown page is about; empty where the name alone says enough. */
const about = signal("");

/** Names the window after the page while it is shown. */
export function useTitle(text: string): void {
  useEffect(() => {
    about.value = shortLine(safeText(text), 60);
    return () => {
      about.value = "";
    };
  }, [text]);
}

/** Keeps title and mark of the tab saying what waits and what failed. */
export function startTab(): void {
  effect(() => {
    const page = about.value === "" ? name : `${about.value} · ${name}`;
    const failed = unseenFailures.value.length > 0;
    const count = waiting.value.length;
    document.title = `${failed ? "✕ " : ""}${count > 0 ? `(${count}) ` : ""}${page}`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon !== null) icon.href = `data:image/svg+xml,${encodeURIComponent(mark(failed, count > 0))}`;
  });
}

const bars = [
  [2, 7, 8],
  [6, 3, 12],
  [10, 1.5, 13.5],
  [14, 4.5, 10.5],
];

/** The mark: amber with a diamond when something waits, red with a cross when something failed. */
function mark(failed: boolean, waits: boolean): string {
  const colour = failed ? "#c8332f" : waits ? "#c8860e" : "#128a90";
  const hands = bars.map(([x, y, h]) => `<rect x="${x}" y="${y}" width="2.8" height="${h}" rx="1.4"/>`).join("");
  const sign = failed
    ? '<circle cx="15" cy="5" r="5" fill="#fff"/><path d="m12.8 2.8 4.4 4.4m0-4.4-4.4 4.4" stroke="#c8332f" stroke-width="2"/>'
    : waits
      ? '<path d="m15 0 5 5-5 5-5-5z" stroke="#fff"/>'
      : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="${colour}">${hands}<rect x="2" y="16.2" width="14.8" height="2.6" rx="1.3"/>${sign}</svg>`;
}
