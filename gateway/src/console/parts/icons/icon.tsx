import { icons } from "./icons.ts";

/** The name of an icon. */
export type IconName = keyof typeof icons;

/** A line icon. It is decoration: what it stands beside, or its button's label, says the word. */
export function Icon({ name, small = false }: { name: IconName; small?: boolean }) {
  return (
    <svg class={small ? "i i-s" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

/** The mark of Manyhands. */
export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" fill="currentColor" aria-hidden="true">
      <rect x="2" y="7" width="2.8" height="8" rx="1.4" />
      <rect x="6" y="3" width="2.8" height="12" rx="1.4" />
      <rect x="10" y="1.5" width="2.8" height="13.5" rx="1.4" />
      <rect x="14" y="4.5" width="2.8" height="10.5" rx="1.4" />
      <rect x="2" y="16.2" width="14.8" height="2.6" rx="1.3" opacity=".55" />
    </svg>
  );
}
