/** A program of the system, or a font, that some part of Manyhands uses. */
export type Program = {
  readonly name: string;
  /** Commands that provide it, best first; any one will do. */
  readonly commands: readonly string[];
  /** For a font: a glob of font files; any one will do. */
  readonly fonts?: string;
  readonly platforms: readonly NodeJS.Platform[];
  /** Package names by package manager. */
  readonly packages: Readonly<Record<PackageManager, string | undefined>>;
  /** What is off, or works less well, without it. */
  readonly without: string;
};

/** The package managers that set-up knows how to call. */
export type PackageManager = "apt-get" | "brew" | "dnf" | "pacman" | "apk";

const everywhere: readonly NodeJS.Platform[] = ["linux", "darwin"];

/** Every program set-up looks for, in the order of its report. */
export const programs: readonly Program[] = [
  {
    name: "bubblewrap",
    commands: ["bwrap"],
    platforms: ["linux"],
    packages: { "apt-get": "bubblewrap", brew: undefined, dnf: "bubblewrap", pacman: "bubblewrap", apk: "bubblewrap" },
    without: "tools run in the weaker Landlock sandbox, or not at all where the kernel lacks it",
  },
  {
    name: "socat",
    commands: ["socat"],
    platforms: ["linux"],
    packages: { "apt-get": "socat", brew: "socat", dnf: "socat", pacman: "socat", apk: "socat" },
    without: "sandboxed tools have no filtered network",
  },
  {
    name: "ripgrep",
    commands: ["rg"],
    platforms: everywhere,
    packages: { "apt-get": "ripgrep", brew: "ripgrep", dnf: "ripgrep", pacman: "ripgrep", apk: "ripgrep" },
    without: "the strongest sandbox tier is off and searching files is slow",
  },
  {
    name: "git",
    commands: ["git"],
    platforms: everywhere,
    packages: { "apt-get": "git", brew: "git", dnf: "git", pacman: "git", apk: "git" },
    without: "agents work on code without its history",
  },
  {
    name: "python3",
    commands: ["python3"],
    platforms: everywhere,
    packages: { "apt-get": "python3", brew: "python3", dnf: "python3", pacman: "python", apk: "python3" },
    without: "python_execute is off",
  },
  {
    name: "chromium",
    // The first, without windows, is enough unless the settings ask for one.
    commands: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    platforms: everywhere,
    packages: {
      "apt-get": "chromium-headless-shell",
      brew: "chromium",
      dnf: "chromium",
      pacman: "chromium",
      apk: "chromium",
    },
    without: "there is no browser: pages made by scripts cannot be read, and the browser agent is off",
  },
  {
    name: "cjk font",
    commands: [],
    // The same names that charts look for. This package is small: 2 MB, while fonts-noto-cjk is
    // 57 MB.
    fonts:
      "**/{*CJK*,wqy-*,*Hei*,*Song*,*Mincho*,ipa*,Takao*,Nanum*,SourceHan*,DroidSansFallback*,unifont*}.{ttf,ttc,otf,pcf}",
    platforms: ["linux"],
    packages: {
      "apt-get": "fonts-wqy-microhei",
      brew: undefined,
      dnf: "wqy-microhei-fonts",
      pacman: "wqy-microhei",
      apk: "font-wqy-zenhei",
    },
    without: "Chinese, Japanese and Korean in PNG charts are boxes; SVG and HTML are not affected",
  },
];

const platforms: readonly NodeJS.Platform[] = ["linux"];
const off = "computer_use is off";

/** What `[desktop]` needs. Set-up does not install them: people who enable the desktop do. */
export const desktopPrograms: readonly Program[] = [
  {
    name: "Xvfb",
    commands: ["Xvfb"],
    platforms,
    packages: {
      "apt-get": "xvfb",
      brew: undefined,
      dnf: "xorg-x11-server-Xvfb",
      pacman: "xorg-server-xvfb",
      apk: "xvfb",
    },
    without: off,
  },
  {
    name: "xdotool",
    commands: ["xdotool"],
    platforms,
    packages: { "apt-get": "xdotool", brew: undefined, dnf: "xdotool", pacman: "xdotool", apk: "xdotool" },
    without: off,
  },
  {
    name: "openbox",
    commands: ["openbox"],
    platforms,
    packages: { "apt-get": "openbox", brew: undefined, dnf: "openbox", pacman: "openbox", apk: "openbox" },
    without: "windows on the desktop have no frame to move or close them by",
  },
];
