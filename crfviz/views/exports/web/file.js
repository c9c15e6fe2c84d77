// A live file: a frame on a page of its own, which sends no request.

import { readFile, start } from "./frame.js";

start(readFile());
