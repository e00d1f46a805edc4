/** The texts of the sandbox in the settings, in English. */
export const sandboxEnglish = {
  title: "Sandbox",
  note: "How the commands and the Python of agents are confined. Without a sandbox they have neither.",
  now: "In use now",
  off: "Commands are not confined: they may do all that the servers' user may. Choose a tier to change that.",
  tier: "Tier",
  tiers: {
    auto: "The strongest that works on this machine",
    srt: "As bwrap; the network as far as allow_domains goes, through a proxy",
    bwrap: "A file system and processes of their own, no network",
    landlock: "Files by a list of the kernel's, no sockets; for machines without user namespaces",
  },
  testNote: "Runs a command in it, here. Nothing is saved.",
  works: (tier: string) => `Works here: ${tier}.`,
  fails: "It does not work here.",
  domains: (names: string) => `Commands may reach ${names}.`,
  restartNeeded: "Saved, but running servers still use the former tier.",
  file: (file: string) => `Written to ${file}.`,
};
