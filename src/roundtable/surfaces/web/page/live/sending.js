// Sends something, shows that it is under way, and keeps what was refused.
import { useState } from "../vendor/hooks.js";

export function useSending() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const send = async (work) => {
    if (busy) return false;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (refused) {
      setError(refused);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, send, setError };
}
