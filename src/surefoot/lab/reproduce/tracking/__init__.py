"""Any clip: what was captured, reconstructed and followed natively (`surefoot track`)."""
