import { address } from "../state/router.ts";
import { words } from "../words/words.ts";
import { Button } from "./button.tsx";
import { Empty } from "./empty.tsx";

/** What is shown where there is nothing. */
export function NotFound() {
  const text = words();
  return (
    <div class="scroll">
      <div class="alone">
        <h1 class="sr">{text.notFound}</h1>
        <Empty
          title={text.notFound}
          action={
            <a class="btn primary" href={address([])}>
              {text.toStart}
            </a>
          }
        >
          {text.notFoundMore}
        </Empty>
      </div>
    </div>
  );
}

/** What is shown where something could not be fetched. */
export function Unavailable({ retry }: { readonly retry: () => void }) {
  const text = words();
  return (
    <div class="scroll">
      <div class="alone">
        <Empty title={text.failedHere} action={<Button onClick={retry}>{text.tryAgain}</Button>}>
          {text.unreachable}
        </Empty>
      </div>
    </div>
  );
}
