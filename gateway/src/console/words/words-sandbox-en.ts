/** The texts of the sandbox in the settings, in English. */
export const sandboxEnglish = {
  title: "Sandbox",
  note: "How the commands and the Python of agents are confined. Without a sandbox they have neither.",
  now: "In use now",
  off: "Commands are not confined: they may do all that the servers' user may. Choose a tier to change that.",
  tier: "Tier",
  tiers: {
    auto: "The strongest that works on this machine",
    srt: "Like bwrap, with network access to allow_domains through a proxy",
    bwrap: "Its own file system and processes, no network",
    landlock: "Files limited by the kernel, no sockets; for machines without user namespaces",
  },
  testNote: "Runs a command in it, here. Nothing is saved.",
  works: (tier: string) => `Works here: ${tier}.`,
  fails: "It does not work here.",
  domains: (names: string) => `Commands may reach ${names}.`,
  restartNeeded: "Saved, but running servers still use the previous tier.",
  file: (file: string) => `Written to ${file}.`,
};
