import { signal } from "@preact/signals";

/** What the person chose, or the system's. */
export type Theme = "light" | "dark" | "system";

const key = "manyhands-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** The chosen theme. */
export const theme = signal<Theme>(stored());

function stored(): Theme {
  const value = localStorage.getItem(key);
  return value === "light" || value === "dark" ? value : "system";
}

/** Chooses a theme and remembers it. */
export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(key, chosen);
  show();
}

/** Switches between light and dark. */
export function toggleTheme(): void {
  chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

/** Shows the chosen theme and follows the system's. */
export function startTheme(): void {
  system.addEventListener("change", show);
  show();
}

function show(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
