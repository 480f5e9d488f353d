//! Finds and installs PJRT plugins and headers from a pinned manifest.
