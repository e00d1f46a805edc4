import { request } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";

/** Who can be told of runs, as the API tells it. */
export type Target = { readonly name: string; readonly type: string };

/** One target, and a way to try it. */
export function TargetEntry({ target: { name, type } }: { target: Target }) {
  const text = words().starts;
  const test = async () => {
    try {
      await request(`/notify/${encodeURIComponent(name)}/test`, { method: "POST" });
      toast(text.tested(name));
    } catch (error) {
      complain(error);
    }
  };
  return (
    <li class="srv">
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        <span class="t2 small">{safeText(type)}</span>
        <span class="grow" />
        <Button look="ghost" aria-label={`${text.test}: ${name}`} onClick={() => void test()}>
          {text.test}
        </Button>
      </div>
    </li>
  );
}
