import type { Program } from "./programs.ts";

const platforms: readonly NodeJS.Platform[] = ["linux"];
const off = "computer_use is off";

/** What `[desktop]` needs. Set-up leaves them alone: whoever enables the desktop installs them. */
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
