import { useState } from "preact/hooks";
import { remove } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { toast } from "../../parts/toast.tsx";
import { ageText, safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useLoaded } from "./use-loaded.ts";

type Profile = {
  readonly name: string;
  readonly sites: readonly string[];
  readonly inUse: boolean;
  readonly savedAt?: string;
  readonly problem?: string;
};

/** What the browser keeps of the caller's log-ins: list, delete. */
export function ProfilesSection() {
  const text = words().system;
  const loaded = useLoaded<{ readonly profiles: readonly Profile[] }>("/browser/profiles");
  const [leaving, setLeaving] = useState<string | undefined>(undefined);
  const profiles = loaded.value?.profiles ?? [];
  return (
    <>
      <h2>{text.profiles}</h2>
      <p>{text.profilesNote}</p>
      <OperatorOnly of={loaded}>
        {profiles.length === 0 && <Empty title={text.noProfiles}>{text.noProfilesMore}</Empty>}
        {profiles.length > 0 && (
          <ul class="list">
            {profiles.map((profile) => (
              <ProfileRow key={profile.name} {...profile} leave={() => setLeaving(profile.name)} />
            ))}
          </ul>
        )}
      </OperatorOnly>
      {leaving !== undefined && (
        <Leave name={leaving} done={() => void loaded.reload()} close={() => setLeaving(undefined)} />
      )}
    </>
  );
}

function ProfileRow({ name, sites, inUse, savedAt, problem, leave }: Profile & { leave: () => void }) {
  const text = words().system;
  const facts = [
    ...(savedAt === undefined ? [] : [text.profileSaved(words().ago(ageText(savedAt)))]),
    ...(inUse ? [text.profileInUse] : []),
  ];
  return (
    <li class="srv">
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        <span class="t2">{facts.join(" · ")}</span>
        <span class="grow" />
        <Button look="ghost" aria-label={`${text.deleteProfile}: ${name}`} onClick={leave}>
          {text.deleteProfile}
        </Button>
      </div>
      <p class="t3 small words">{safeText(problem ?? (sites.length === 0 ? text.profileEmpty : sites.join(", ")))}</p>
    </li>
  );
}

function Leave({ name, done, close }: { name: string; done: () => void; close: () => void }) {
  const text = words().system;
  const leave = async () => {
    await remove(`/browser/profiles/${encodeURIComponent(name)}`);
    toast(text.profileDeleted(name));
    done();
    close();
  };
  return (
    <ConfirmDialog title={text.deleteProfileAsk(name)} label={text.deleteProfile} act={leave} onClose={close}>
      <p class="t2">{text.deleteProfileMore}</p>
    </ConfirmDialog>
  );
}
