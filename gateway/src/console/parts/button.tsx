import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icons/icon.tsx";
import { keyText } from "./keys.ts";

/** How a button looks: `primary` is the one thing to press. */
export type ButtonLook = "primary" | "plain" | "ghost" | "fail";

type Props = {
  readonly look?: ButtonLook;
  readonly tall?: boolean;
  readonly icon?: IconName;
  /** The key that does the same, as `keyText` takes it, shown inside. */
  readonly shortcut?: string;
  readonly children?: ComponentChildren;
} & Omit<JSX.IntrinsicElements["button"], "icon" | "size" | "children">;

/** A button with a word. */
export function Button({ look = "plain", tall, icon, shortcut, children, type = "button", ...rest }: Props) {
  const names = ["btn", look === "plain" ? "" : look, tall ? "tall" : ""].filter((name) => name !== "");
  return (
    <button class={names.join(" ")} type={type} {...rest}>
      {icon && <Icon name={icon} small />}
      {children}
      {shortcut && <kbd aria-hidden="true">{keyText(shortcut)}</kbd>}
    </button>
  );
}

/** A button with only an icon; `label` says what it does. */
export function IconButton({
  icon,
  label,
  look = "ghost",
  ...rest
}: { readonly icon: IconName; readonly label: string; readonly look?: ButtonLook } & Omit<
  JSX.IntrinsicElements["button"],
  "icon" | "label"
>) {
  return (
    <button
      class={look === "plain" ? "btn icon" : `btn icon ${look}`}
      type="button"
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
