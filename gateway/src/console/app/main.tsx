import { render } from "preact";
import { startRunNews } from "../attention/run-news.ts";
import { startTab } from "../attention/tab.ts";
import { complain } from "../parts/toast.tsx";
import { type PageRoute, place, startRouter } from "../state/router.ts";
import { startStore } from "../state/store.ts";
import { startTheme } from "../state/theme.ts";
import { language, speakToGuests } from "../words/words.ts";
import { App } from "./app.tsx";
import { lazyPage } from "./lazy-page.tsx";

language.subscribe((code) => {
  document.documentElement.lang = code;
});
const SharedPage = lazyPage(async () => (await import("../pages/shared/shared-page.tsx")).SharedPage);

startTheme();
startRouter();
const root = document.getElementById("root");
// A page that a link opened is not the console, and becomes it only by being loaded anew.
const secret = linkIn(place.value);
place.subscribe((now) => {
  if (linkIn(now) !== secret) location.reload();
});
startTab();
if (root !== null && secret !== undefined) {
  speakToGuests();
  render(<SharedPage secret={secret} />, root);
} else if (root !== null) {
  startStore(complain);
  startRunNews();
  render(<App />, root);
}

function linkIn({ parts }: PageRoute): string | undefined {
  return parts[0] === "shared" ? (parts[1] ?? "") : undefined;
}
