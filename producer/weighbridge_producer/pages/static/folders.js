"use strict";
// The files in dropped folders; used by upload.js and page.js.

const MOST_ENTRIES = 10_000; // files and folders, whether they are read or not
const MOST_DEPTH = 20;
const OTHERWISE = "Drop one of its folders, or submit it with the command line.";

// Files of dropped folders by their paths; a file of the folder picker has its path itself.
const droppedPaths = new WeakMap();

// A file's path from its folder on; empty for a file that was chosen or dropped by itself.
function pathOf(file) {
  return droppedPaths.get(file) ?? file.webkitRelativePath;
}

// The entries of what was dropped, if there is a folder among them; to be called while the event is handled.
function droppedEntries(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  return entries.some((entry) => entry.isDirectory) ? entries : [];
}

// All files in dropped folders, with their paths; throws an error whose message is for the user.
async function filesInEntries(entries) {
  // The folders are listed before the first file is opened, which takes longer, so that too many are refused at once.
  const listed = [];
  let count = 0;
  const list = async (entry, depth) => {
    if (++count > MOST_ENTRIES) throw new Error(`There are more than ${MOST_ENTRIES.toLocaleString("en")} files and folders in it. ${OTHERWISE}`);
    if (depth > MOST_DEPTH) throw new Error(`It has folders nested more than ${MOST_DEPTH} deep. ${OTHERWISE}`);
    if (entry.isFile) {
      listed.push(entry);
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      // A browser hands over some entries at a time, and none at the end.
      const some = await answered(entry, (resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const each of some) await list(each, depth + 1);
    }
  };
  for (const entry of entries) await list(entry, 0);
  const found = [];
  for (const entry of listed) {
    const file = await answered(entry, (resolve, reject) => entry.file(resolve, reject));
    droppedPaths.set(file, entry.fullPath.slice(1));
    found.push(file);
  }
  return found;
}

// What the browser answers about an entry; throws an error that names the entry.
async function answered(entry, ask) {
  try {
    return await new Promise(ask);
  } catch (error) {
    throw new Error(`“${entry.name}” cannot be read: ${error.message}`);
  }
}
