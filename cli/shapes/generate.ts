import { writeClientFiles } from './client-files.ts';

writeClientFiles();
