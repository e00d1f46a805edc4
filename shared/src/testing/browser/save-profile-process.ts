import { profileFiles } from "../../machine/browser-profile/profile-files.ts";
import { openProfiles } from "../../server/storage/open-profiles.ts";

/** A process that saves a large browser profile again and again; the first argument is the home. */
const profile = await openProfiles(profileFiles(process.argv[2] ?? "")).open("ada", "main", "killed");
for (let round = 1; ; round++) {
  const cookies = Array.from({ length: 1_000 }, (_, at) => ({
    name: `c${at}`,
    value: `${round}`,
    domain: ".shop.example",
    path: "/",
  }));
  await profile.save({ cookies, origins: [] });
  if (round === 1) process.stdout.write("saved\n");
}
