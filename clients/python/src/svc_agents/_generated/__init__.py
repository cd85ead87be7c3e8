"""Written from the operations by `npm run surface`."""
