"use strict";
// Progressive enhancement only: every form and link works without this file.
