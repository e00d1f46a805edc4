import { complain } from "../parts/toast.tsx";
import { words } from "../words/words.ts";
import { allowNotifications, notifications } from "./notifications.ts";

/** Whether the person is notified; the browser asks only when it is pressed. */
export function NotificationChoice() {
  const text = words().find;
  const state = notifications.value;
  return (
    <div>
      <label class="check">
        <input
          type="checkbox"
          checked={state === "on"}
          disabled={state === "missing" || state === "blocked"}
          onChange={(event) => void allowNotifications(event.currentTarget.checked).catch(complain)}
        />
        {text.notifyMe}
      </label>
      <p class="t3 small">{text.notificationStates[state]}</p>
    </div>
  );
}
