// A live file: a frame on a page of its own, which asks nobody for anything.

import { readFile, start } from "./start.js";

start(readFile());
