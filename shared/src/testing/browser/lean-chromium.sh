#!/bin/sh
# Starts the Chromium at $CHROMIUM as Playwright says, without the features in $NEEDLESS: of several
# lists of disabled features it reads the last.
for word do
  shift
  case $word in --disable-features=*) word="$word,$NEEDLESS" ;; esac
  set -- "$@" "$word"
done
exec "$CHROMIUM" "$@"
