import { signal } from "@preact/signals";
import { address, go } from "../state/router.ts";
import { safeText, shortLine } from "../words/format.ts";

const key = "manyhands-notifications";

/** `blocked`: the browser refuses; `missing`: it has none for this page. */
export type NotificationState = "on" | "off" | "blocked" | "missing";

/** Whether the person is notified of questions and ends. */
export const notifications = signal<NotificationState>(now());

function now(): NotificationState {
  // Browsers give them to pages of the same machine and to those that came by HTTPS.
  if (!("Notification" in window) || !isSecureContext) return "missing";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && localStorage.getItem(key) === "on" ? "on" : "off";
}

/** Turns them on, for which the browser asks the person, or off. Only ever called by a press. */
export async function allowNotifications(on: boolean): Promise<void> {
  localStorage.setItem(key, on ? "on" : "off");
  if (on && Notification.permission === "default") await Notification.requestPermission();
  notifications.value = now();
}

/** What a notification says, and which conversation it opens. */
export type Notice = {
  readonly id: string;
  readonly contextId: string;
  readonly title: string;
  readonly text: string;
};

/** Shows it if the person asked for them; several tabs show it once. */
export function notify({ id, contextId, title, text }: Notice): void {
  notifications.value = now();
  if (notifications.peek() !== "on") return;
  const shown = new Notification(title, { body: shortLine(safeText(text), 200), tag: id });
  shown.onclick = () => {
    window.focus();
    go(address(["c", contextId]));
    shown.close();
  };
}
